"""The name of TensorFlow Elastic, so that its command lines go on working: they are muster's now."""
