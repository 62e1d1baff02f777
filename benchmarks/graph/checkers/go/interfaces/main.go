// Command interfaces prints the interfaces of the Go standard library with the signatures of their methods, in the
// notation of model/expressions.py: lines of languages/go/interfaces.txt. What the library asks of values by unnamed
// interfaces ("errors.Is") is not in its output; those lines are kept by hand.
// With the argument "members" it prints all other types with the names of their fields and methods: members.txt. Few
// programs embed those of the compiler's own packages, which are left out.
package main

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"log"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"strings"
)

func main() {
	listed, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		log.Fatal(err)
	}
	source := importer.ForCompiler(token.NewFileSet(), "source", nil)
	var lines []string
	for _, path := range strings.Fields(string(listed)) {
		if strings.Contains(path, "internal") || strings.HasPrefix(path, "vendor/") {
			continue
		}
		library, err := source.Import(path)
		if err != nil {
			log.Fatal(err)
		}
		for _, name := range library.Scope().Names() {
			describe := methods
			if len(os.Args) > 1 {
				describe = members
			}
			if line := describe(library.Scope().Lookup(name)); line != "" {
				lines = append(lines, path+"."+name+" "+line)
			}
		}
	}
	sort.Strings(lines)
	fmt.Println(strings.Join(lines, "\n"))
}

func methods(object types.Object) string {
	named, isType := object.(*types.TypeName)
	if !isType || !named.Exported() {
		return ""
	}
	demanded, isInterface := named.Type().Underlying().(*types.Interface)
	if !isInterface || !demanded.IsMethodSet() {
		return ""
	}
	var written []string
	for method := range demanded.Methods() {
		written = append(written, method.Name()+notation(method.Type()))
	}
	sort.Strings(written)
	return strings.Join(written, " ")
}

// members returns the names that a value of a type has, "" for an interface: also those from embedded fields.
func members(object types.Object) string {
	named, isType := object.(*types.TypeName)
	isOwn := regexp.MustCompile("^(go|debug|syscall)(/|$)").MatchString(object.Pkg().Path())
	if isOwn || !isType || !named.Exported() || types.IsInterface(named.Type()) {
		return ""
	}
	names := map[string]bool{}
	for selection := range types.NewMethodSet(types.NewPointer(named.Type())).Methods() {
		names[selection.Obj().Name()] = selection.Obj().Exported()
	}
	level := []types.Type{named.Type()}
	for len(level) > 0 {
		var embedded []types.Type
		for _, kind := range level {
			if pointer, isPointer := kind.Underlying().(*types.Pointer); isPointer {
				kind = pointer.Elem()
			}
			fields, isStruct := kind.Underlying().(*types.Struct)
			if !isStruct {
				continue
			}
			for field := range fields.Fields() {
				names[field.Name()] = field.Exported()
				if field.Embedded() {
					embedded = append(embedded, field.Type())
				}
			}
		}
		level = embedded
	}
	var written []string
	for name, isExported := range names {
		if isExported {
			written = append(written, name)
		}
	}
	sort.Strings(written)
	return strings.Join(written, " ")
}

func notation(kind types.Type) string {
	switch kind := types.Unalias(kind).(type) {
	case *types.Basic:
		return "'" + types.Typ[kind.Kind()].Name()
	case *types.Pointer:
		return notation(kind.Elem())
	case *types.Named:
		if kind.Obj().Pkg() == nil {
			return "'" + kind.Obj().Name()
		}
		return fmt.Sprintf("%q.%s", kind.Obj().Pkg().Path(), kind.Obj().Name())
	case *types.Slice:
		return "[" + notation(kind.Elem()) + "]"
	case *types.Array:
		return "[" + notation(kind.Elem()) + "]"
	case *types.Map:
		return "{" + notation(kind.Key()) + ":" + notation(kind.Elem()) + "}"
	case *types.Chan:
		return "{" + notation(kind.Elem()) + ":" + notation(kind.Elem()) + "}"
	case *types.Signature:
		result := "-"
		if kind.Results().Len() > 0 {
			result = "(" + each(kind.Results(), ";") + ")"
		}
		return "\\(" + each(kind.Params(), ",") + ":" + result + ")"
	case *types.Interface:
		if kind.Empty() {
			return "'any"
		}
	}
	return "?"
}

func each(values *types.Tuple, separator string) string {
	var written []string
	for value := range values.Variables() {
		written = append(written, notation(value.Type()))
	}
	return strings.Join(written, separator)
}
