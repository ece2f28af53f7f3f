"""Which dimensions interact: by a policy's Hessians or by returns, and the cliques they form."""
