"""What a person chooses: arms, rounds, requests, clocks; each choice stands in the address."""
