"""The optimizer's tests run on one thread, so that two runs give the same bits and the machine stays usable."""

try:
    import torch
except ImportError:  # the tests skip themselves, with their reason
    pass
else:
    torch.set_num_threads(1)
