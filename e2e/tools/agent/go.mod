module agent

go 1.26.0
