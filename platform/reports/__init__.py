"""What one looks at: report page, curves, structure pictures, renderings."""
