"""What stands on a node's disk about its changes: what was written, who may write, until when it must be confirmed."""
