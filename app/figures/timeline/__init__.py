"""The timeline: slots of rounds as cells, tracks below them, and what is selected."""
