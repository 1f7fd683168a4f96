import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]
print(layernorm_scratch(torch.tensor([1.0, 3.0, 5.0, 7.0])))


def experiment():
    history = []
    for size in (1 << 20, 1 << 12):
        try:
            while True:
                history.append(torch.empty(size))
        except RuntimeError:
            print("kept", len(history))
    return torch.empty(1 << 28), history


results, history = experiment()


def layernorm_scratch(x, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps)
