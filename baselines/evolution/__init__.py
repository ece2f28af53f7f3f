"""Evolution strategies under the project's ask and tell: what sceptics of surrogates run first."""
