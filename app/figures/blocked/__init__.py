"""Who was refused, for which cause, and who waited for whom."""
