"""Differences between two arms, request by request and stream by stream."""
