"""Controls for arms, rounds, requests and clocks. Each choice is kept in the address, so that a link repeats it."""
