package testsite

import (
	"fmt"
	"reflect"
	"strings"
)

// Number replaces every text in a struct, be it in a list, a map or a struct within, by a
// number in marks, which has no letter: "‹12›", and "‹13›%s" for a text with %s. What is
// then left of letters on a page is in no text.
func Number(texts any) {
	number := 0
	var change func(v reflect.Value)
	change = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			number++
			text := fmt.Sprintf("‹%d›", number)
			if strings.Contains(v.String(), "%s") {
				text += "%s"
			}
			if strings.Contains(v.String(), "15:04") { // where the time of day belongs
				text += " 15:04"
			}
			v.SetString(text)
		case reflect.Struct:
			for _, field := range v.Fields() {
				change(field)
			}
		case reflect.Slice:
			for i := range v.Len() {
				change(v.Index(i))
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				entry := reflect.New(v.Type().Elem()).Elem()
				entry.Set(v.MapIndex(key))
				change(entry)
				v.SetMapIndex(key, entry)
			}
		default:
			panic("no such text: " + v.Kind().String())
		}
	}
	change(reflect.ValueOf(texts).Elem())
}
