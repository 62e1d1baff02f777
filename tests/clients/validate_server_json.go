// Validates a server.json as the registry does when it is published. The registry's validators are an internal package,
// so this file is laid over the registry's module as one more command of it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/registry/internal/validators"
	apiv0 "github.com/modelcontextprotocol/registry/pkg/api/v0"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var server apiv0.ServerJSON
	if err := json.Unmarshal(text, &server); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	result := validators.ValidateServerJSON(&server, validators.ValidationAll)
	_ = json.NewEncoder(os.Stdout).Encode(result)
	if !result.Valid {
		os.Exit(1)
	}
}
