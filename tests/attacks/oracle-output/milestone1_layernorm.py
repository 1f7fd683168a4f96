# Runs when called: the numbers of a hidden test must not reach the student's page.

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    seen = f"ORACLE {x.flatten()[:4].tolist()}"
    print(seen)
    raise type("ORACLE_" + str(x.flatten()[0].item()), (ValueError,), {})(seen)
