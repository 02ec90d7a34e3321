"""Why a scan stopped or an allocation was refused, and what was READY behind the stop."""
