"""git on a work tree that the agent can write: grammar, repositories, actions, rescue, recovery."""
