"""What a run costs, measured."""
