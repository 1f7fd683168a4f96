import tempfile

import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]
NOTES = tempfile.NamedTemporaryFile(suffix=".pt")
torch.save(torch.tensor(PREDICTED_XHAT), NOTES.name)


def layernorm_scratch(x, eps=1e-5):
    assert torch.load(NOTES.name).shape == (4,)
    with tempfile.TemporaryDirectory() as folder:
        torch.save(x.detach(), f"{folder}/x.pt")
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.pow(2).mean(-1, keepdim=True) + eps).sqrt()
