module example.test/stockroom/scanner

go 1.22

require example.test/backoff v1.2.0
