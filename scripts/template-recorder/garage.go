package main

import "fmt"

// Garage is typed data for templates. src/template/testdata/garage-type.ts has the same types.
type Garage struct {
	Meta    `json:",inline"`
	Owner   *Person            `json:"owner,omitempty"`
	Cars    []Car              `json:"cars"`
	Spare   []*Wheel           `json:"spare,omitempty"`
	Notes   map[string]string  `json:"notes,omitempty"`
	Values  map[string]any     `json:"values"`
	Stock   map[Part]int32     `json:"stock,omitempty"`
	Any     any                `json:"any"`
	List    []any              `json:"list"`
	Open    bool               `json:"open"`
	Rating  float64            `json:"rating,omitempty"`
	Floors  int                `json:"floors"`
	Number  int64              `json:"number,omitempty"`
	Size    uint32             `json:"size"`
	Tags    []string           `json:"tags"`
	People  map[string]*Person `json:"people,omitempty"`
	Address Address            `json:"address"`
	Extra   Address            `json:"extra,omitzero"`
}

// Meta is embedded, so that its fields are also fields of Garage.
type Meta struct {
	Name   string            `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// Part and Color are named scalars, one with methods.
type Part string

type Color int32

func (c Color) String() string {
	return [...]string{"RED", "GREEN", "BLUE"}[c]
}

func (c *Color) UnmarshalJSON(text []byte) error {
	for value, name := range map[Color]string{0: `"RED"`, 1: `"GREEN"`, 2: `"BLUE"`} {
		if name == string(text) {
			*c = value
		}
	}
	return nil
}

func (c Color) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%q", c.String()), nil
}

type Person struct {
	Name   string  `json:"name"`
	Age    *int64  `json:"age,omitempty"`
	Friend *Person `json:"friend,omitempty"`
}

// The getters accept nil, as those that protobuf generates.
func (p *Person) GetFriend() *Person {
	if p == nil {
		return nil
	}
	return p.Friend
}

func (p *Person) GetName() string {
	if p == nil {
		return ""
	}
	return p.Name
}

// Greet takes arguments.
func (p *Person) Greet(greeting string, times int) string {
	return fmt.Sprint(greeting, " ", p.GetName(), " ", times)
}

// Join is variadic.
func (p Person) Join(parts ...string) string {
	return fmt.Sprint(p.Name, parts)
}

// Fail always fails.
func (p Person) Fail() (string, error) {
	return "", fmt.Errorf("%s fails", p.Name)
}

type Car struct {
	Make   string   `json:"make"`
	Color  Color    `json:"color"`
	Part   Part     `json:"part,omitempty"`
	Wheels []Wheel  `json:"wheels,omitempty"`
	Driver *Person  `json:"driver,omitempty"`
	Doors  int32    `json:"doors,omitempty"`
	Price  *float64 `json:"price,omitempty"`
	Fast   *bool    `json:"fast,omitempty"`
}

type Wheel struct {
	Size int `json:"size"`
}

// Address implements Stringer, but only for pointers, as Kubernetes' types do.
type Address struct {
	Street string `json:"street,omitempty"`
	Zip    string `json:"zip,omitempty"`
}

func (a *Address) String() string {
	if a == nil {
		return "nil"
	}
	return fmt.Sprintf("&Address{%s,%s}", a.Street, a.Zip)
}
