package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

const wantedQuantities = 4000

// quantityRow is a text, and the quantity that Go parses from it, as Go prints it.
type quantityRow struct {
	Text      string `json:"t"`
	Canonical string `json:"q,omitempty"`
	Error     string `json:"e,omitempty"`
}

var quantityEdgeCases = []string{
	"", " ", "0", "00", ".", "-", "+", "m", "Ki", "1.", ".5", "-.5", "+5", "+5Gi", "05Gi", "0001Ki", "1.500", "1.234", "0.100", "1000m", "1500m", "100m", "1000",
	"1Gi", "1024Mi", "1.5Gi", "8Gi", "1025Ki", "1048576Ki", "0.5Ki", "1.1Ki", "0.0001Ki", "-1Gi", "-0.5Mi", "1e3", "1E3", "1e-3", "1.5e3", "12e6", "1E", "1E5", "1e", "e5", "5e", "1e1000",
	"1e-1000", "1e-9", "1e-10", "0.0000000001", "0.00000000149", "-0.0000000001", "123456789012345678", "1234567890123456789", "12345678901234567890",
	"9223372036854775807", "9223372036854775808", "9223372036854775807Ki", "16Ei", "8Ei", "7Ei", "7.5Ei", "1Ei", "1000E", "1000Ei", "1n", "1u", "999n", "1000n", "1k", "1K", "1KI", "1ki",
	"1M", "1G", "1T", "1P", "1000k", "1i", "1Kii", "1 Gi", " 1Gi ", "1Gi\n", "1,5", "1.5.2", "abc", "1abc", "--1", "1e5x", "1e+5", "1e99999999999", "1e9223372036854775808", "0x10", "NaN", "1_000",
	"512", "511Mi", "1000000000000000000000", "0.000", "0m", "0Ki", "0e5", "1.0", "10.00", "100000", "1e21", "1.0Gi", "1.00k",
}

func recordQuantities() []quantityRow {
	rows := []quantityRow{}
	for _, text := range quantityEdgeCases {
		rows = append(rows, quantity(text))
	}
	random := rand.New(rand.NewPCG(2026, 11))
	suffixes := []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-4", "E7", "e0", "x"}
	for len(rows) < wantedQuantities {
		var text strings.Builder
		text.WriteString([]string{"", "", "", "-", "+"}[random.IntN(5)])
		text.WriteString(digits(random, random.IntN(12)))
		if random.IntN(3) == 0 {
			fmt.Fprintf(&text, ".%s", digits(random, random.IntN(12)))
		}
		text.WriteString(suffixes[random.IntN(len(suffixes))])
		rows = append(rows, quantity(text.String()))
	}
	return rows
}

func digits(random *rand.Rand, count int) string {
	var result strings.Builder
	for range count {
		// Many zeros, and some powers of two.
		result.WriteString([]string{"0", "0", "1", "2", "5", "1024", "9", "3"}[random.IntN(8)])
	}
	return result.String()
}

func quantity(text string) quantityRow {
	var parsed resource.Quantity
	// JSON is the form of quantities in a pod.
	if err := parsed.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
		return quantityRow{Text: text, Error: err.Error()}
	}
	encoded, err := parsed.MarshalJSON()
	check(err)
	return quantityRow{Text: text, Canonical: strings.Trim(string(encoded), `"`)}
}
