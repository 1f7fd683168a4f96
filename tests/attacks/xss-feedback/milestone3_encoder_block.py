# The class is missing: the message lists what is there.
PREDICTED_PARAMETERS = 840
globals()["<script>alert(1)</script>"] = lambda x: x
globals()["[x](javascript:alert(1))"] = lambda x: x
