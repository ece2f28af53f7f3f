"""Target `onnx`: policies as ONNX graphs, written without the onnx package."""
