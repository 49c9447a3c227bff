"""Tests of the Python client; ``python3 -m unittest`` in adapter/python. Those that need a Manager take it from
ORBITKV_TEST_HOME, the folder of an unpacked or built distribution."""
