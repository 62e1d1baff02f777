// Prints what go/packages and go/types say of the modules below a folder, as the records of ../README.md.
//
//	go run . ROOT > truth.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A place of a declaration: path, line, name.
type target [3]any

type symbol struct {
	Record    string `json:"record"`
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Start     int    `json:"start_line"`
	End       int    `json:"end_line"`
	Name      string `json:"name"`
	Qualified string `json:"qualified"`
	Kind      string `json:"kind"`
}

type site struct {
	Record   string   `json:"record"`
	Path     string   `json:"path"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Found    string   `json:"found"`
	Targets  []target `json:"targets,omitempty"`
	Dispatch []target `json:"dispatch,omitempty"`
	Receiver string   `json:"receiver"`
}

type pair struct {
	Record string `json:"record"`
	Kind   string `json:"kind"`
	Source target `json:"source"`
	Target target `json:"target"`
}

type file struct {
	Record string `json:"record"`
	Path   string `json:"path"`
}

type program struct {
	root    string
	set     *token.FileSet
	out     *json.Encoder
	symbols map[token.Position]*symbol
	names   map[string]bool
	types   map[token.Position]*types.Named
	done    map[any]bool
}

func main() {
	root, err := filepath.Abs(os.Args[1])
	check(err)
	root, err = filepath.EvalSymlinks(root)
	check(err)
	buffer := bufio.NewWriter(os.Stdout)
	defer buffer.Flush()
	it := &program{
		root:    root,
		set:     token.NewFileSet(),
		out:     json.NewEncoder(buffer),
		symbols: map[token.Position]*symbol{},
		names:   map[string]bool{},
		types:   map[token.Position]*types.Named{},
		done:    map[any]bool{},
	}
	var loaded []*packages.Package
	for _, folder := range modules(root) {
		loaded = append(loaded, it.load(folder)...)
	}
	each := func(visit func(*packages.Package, *ast.File)) {
		for _, one := range loaded {
			for _, syntax := range one.Syntax {
				if it.inside(syntax.Package) {
					visit(one, syntax)
				}
			}
		}
	}
	each(it.declare)
	for _, one := range it.symbols {
		check(it.out.Encode(one))
	}
	it.relate()
	each(it.refer)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func modules(root string) []string {
	var found []string
	check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "go.mod" {
			found = append(found, filepath.Dir(path))
		}
		return err
	}))
	return found
}

func (it *program) load(folder string) []*packages.Package {
	config := &packages.Config{Mode: packages.LoadAllSyntax, Dir: folder, Tests: true, Fset: it.set}
	loaded, err := packages.Load(config, "./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, folder, "is left out:", err)
	}
	for _, one := range loaded {
		for _, problem := range one.Errors {
			fmt.Fprintln(os.Stderr, one.ID, problem)
		}
	}
	return loaded
}

// ---------------------------------------------------------------- places

// at returns where something is, relative to the root; the zero value where it is outside.
func (it *program) at(where token.Pos) token.Position {
	found := it.set.Position(where)
	path, err := filepath.Rel(it.root, found.Filename)
	if !where.IsValid() || err != nil || strings.HasPrefix(path, "..") {
		return token.Position{}
	}
	return token.Position{Filename: filepath.ToSlash(path), Line: found.Line, Column: found.Column}
}

func (it *program) inside(where token.Pos) bool { return it.at(where).Filename != "" }

// once tells whether a thing is met for the first time: a file is loaded again with its package's tests.
func (it *program) once(thing any) bool {
	first := !it.done[thing]
	it.done[thing] = true
	return first
}

func (it *program) target(where token.Pos) (target, bool) {
	found, ok := it.symbols[it.at(where)]
	if !ok {
		return target{}, false
	}
	return target{found.Path, found.Line, found.Name}, true
}

// ---------------------------------------------------------------- declarations

func (it *program) declare(of *packages.Package, syntax *ast.File) {
	if path := it.at(syntax.Package).Filename; it.once(file{Path: path}) {
		check(it.out.Encode(file{"file", path}))
	}
	for _, one := range syntax.Decls {
		switch one := one.(type) {
		case *ast.FuncDecl:
			if one.Recv == nil {
				it.add(one.Name, one, "", "function")
			} else {
				it.add(one.Name, one, receiverName(one)+".", "method")
			}
		case *ast.GenDecl:
			for _, spec := range one.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					it.declareType(of, spec)
				}
			}
		}
	}
}

func (it *program) declareType(of *packages.Package, spec *ast.TypeSpec) {
	kind := "type"
	if named, ok := of.TypesInfo.Defs[spec.Name].Type().(*types.Named); ok {
		if types.IsInterface(named) {
			kind = "interface"
		}
		if !spec.Assign.IsValid() && named.TypeParams().Len() == 0 {
			it.types[it.at(spec.Name.Pos())] = named
		}
	}
	it.add(spec.Name, spec, "", kind)
	var fields *ast.FieldList
	member := "field"
	switch written := spec.Type.(type) {
	case *ast.StructType:
		fields = written.Fields
	case *ast.InterfaceType:
		fields, member = written.Methods, "method"
	default:
		return
	}
	for _, one := range fields.List {
		for _, name := range one.Names {
			it.add(name, one, spec.Name.Name+".", member)
		}
	}
}

func (it *program) add(name *ast.Ident, whole ast.Node, owner string, kind string) {
	where := it.at(name.Pos())
	it.symbols[where] = &symbol{
		"symbol", where.Filename, where.Line, where.Column,
		it.at(whole.Pos()).Line, it.at(whole.End()).Line, name.Name, owner + name.Name, kind,
	}
	it.names[name.Name] = true
}

func receiverName(of *ast.FuncDecl) string {
	written := of.Recv.List[0].Type
	for {
		switch one := written.(type) {
		case *ast.StarExpr:
			written = one.X
		case *ast.ParenExpr:
			written = one.X
		case *ast.IndexExpr:
			written = one.X
		case *ast.IndexListExpr:
			written = one.X
		case *ast.Ident:
			return one.Name
		default:
			return ""
		}
	}
}

// ---------------------------------------------------------------- implementers

// relate prints which types satisfy which interfaces, by which methods, and what embeds what.
func (it *program) relate() {
	for _, named := range it.types {
		wanted, ok := named.Underlying().(*types.Interface)
		if structure, ok := named.Underlying().(*types.Struct); ok {
			for index := range structure.NumFields() {
				if one := structure.Field(index); one.Embedded() {
					it.pair("embeds", named.Obj().Pos(), typeName(one.Type()))
				}
			}
		}
		if !ok {
			continue
		}
		for index := range wanted.NumEmbeddeds() {
			it.pair("extends", named.Obj().Pos(), typeName(wanted.EmbeddedType(index)))
		}
		if wanted.NumMethods() == 0 {
			continue
		}
		for _, other := range it.types {
			if other == named || !types.Implements(types.NewPointer(other), wanted) && !types.Implements(other, wanted) {
				continue
			}
			if types.IsInterface(other) {
				it.pair("satisfies", other.Obj().Pos(), named.Obj())
				continue
			}
			it.pair("implements", other.Obj().Pos(), named.Obj())
			for index := range wanted.NumMethods() {
				method := wanted.Method(index)
				if found := methodOf(other, method.Name()); found != nil {
					it.pair("overrides", found.Pos(), method)
				}
			}
		}
	}
}

func (it *program) pair(kind string, source token.Pos, of types.Object) {
	if of == nil {
		return
	}
	from, ok := it.target(source)
	to, also := it.target(of.Pos())
	row := pair{"pair", kind, from, to}
	if ok && also && from != to && it.once(row) {
		check(it.out.Encode(row))
	}
}

func typeName(of types.Type) types.Object {
	if pointer, ok := types.Unalias(of).(*types.Pointer); ok {
		of = pointer.Elem()
	}
	if named, ok := types.Unalias(of).(*types.Named); ok {
		return named.Origin().Obj()
	}
	return nil
}

func methodOf(of *types.Named, name string) *types.Func {
	found, _, _ := types.LookupFieldOrMethod(types.NewPointer(of), true, of.Obj().Pkg(), name)
	if method, ok := found.(*types.Func); ok {
		return method.Origin()
	}
	return nil
}

// dispatch returns the project's methods that a call through an interface may reach.
func (it *program) dispatch(through types.Type, name string) []target {
	if _, generic := through.(*types.TypeParam); generic {
		return nil
	}
	wanted, ok := through.Underlying().(*types.Interface)
	if !ok || wanted.NumMethods() == 0 {
		return nil
	}
	var found []target
	known := map[target]bool{}
	for _, one := range it.types {
		if types.IsInterface(one) || !types.Implements(types.NewPointer(one), wanted) {
			continue
		}
		if method := methodOf(one, name); method != nil {
			if to, ok := it.target(method.Pos()); ok && !known[to] {
				known[to] = true
				found = append(found, to)
			}
		}
	}
	return found
}

// ---------------------------------------------------------------- references

// A use of an identifier: the expression that it ends, and the nodes around that, the innermost last.
type use struct {
	name     *ast.Ident
	selector *ast.SelectorExpr
	whole    ast.Node
	around   []ast.Node
}

func (it *program) refer(of *packages.Package, syntax *ast.File) {
	var stack []ast.Node
	ast.Inspect(syntax, func(node ast.Node) bool {
		if node == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, node)
		if name, ok := node.(*ast.Ident); ok && it.names[name.Name] {
			if object := of.TypesInfo.Uses[name]; object != nil && it.once(it.at(name.Pos())) {
				it.print(of, object, widen(name, stack[:len(stack)-1]))
			}
		}
		return true
	})
}

// widen adds the qualifier, type arguments and parentheses around an identifier to it.
func widen(name *ast.Ident, around []ast.Node) use {
	found := use{name: name, whole: name, around: around}
	for len(found.around) > 0 {
		switch outer := found.around[len(found.around)-1].(type) {
		case *ast.SelectorExpr:
			if outer.Sel != found.whole {
				return found
			}
			found.selector = outer
		case *ast.IndexExpr:
			if outer.X != found.whole {
				return found
			}
		case *ast.IndexListExpr:
			if outer.X != found.whole {
				return found
			}
		case *ast.ParenExpr:
		default:
			return found
		}
		found.whole = found.around[len(found.around)-1]
		found.around = found.around[:len(found.around)-1]
	}
	return found
}

func (it *program) print(of *packages.Package, object types.Object, used use) {
	where := it.at(used.name.Pos())
	row := site{
		Record: "site", Path: where.Filename, Line: where.Line, Column: where.Column,
		Name: used.name.Name, Found: "outside", Receiver: receiverShape(of, used),
	}
	switch object := object.(type) {
	case *types.Func:
		row.Kind = used.kindOfFunction()
		if selected := of.TypesInfo.Selections[used.selector]; used.selector != nil && selected != nil && types.IsInterface(selected.Recv()) {
			row.Dispatch = it.dispatch(selected.Recv(), object.Name())
		}
		it.point(&row, object.Origin().Pos())
	case *types.TypeName:
		row.Kind = used.kindOfType()
		if object.Parent() != nil && object.Pkg() != nil && object.Parent() != object.Pkg().Scope() {
			row.Found = "local"
		}
		it.point(&row, object.Pos())
	case *types.Var:
		row.Kind = used.kindOfVariable()
		if !object.IsField() {
			row.Found = "local"
		}
		it.point(&row, object.Origin().Pos())
	default:
		row.Kind, row.Found = "value", "local"
	}
	check(it.out.Encode(row))
}

func (it *program) point(row *site, where token.Pos) {
	if to, ok := it.target(where); ok {
		row.Found, row.Targets = "project", []target{to}
	}
}

func (used use) outer() ast.Node {
	if len(used.around) == 0 {
		return nil
	}
	return used.around[len(used.around)-1]
}

func (used use) kindOfFunction() string {
	if call, ok := used.outer().(*ast.CallExpr); ok && call.Fun == used.whole {
		return "call"
	}
	return "value"
}

func (used use) kindOfType() string {
	if literal, ok := used.outer().(*ast.CompositeLit); ok && literal.Type == used.whole {
		return "instantiate"
	}
	for index, node := range used.around {
		if list, ok := node.(*ast.FieldList); ok && index > 0 {
			if function, ok := used.around[index-1].(*ast.FuncDecl); ok && function.Recv == list {
				return "receiver"
			}
		}
	}
	return "type"
}

func (used use) kindOfVariable() string {
	switch outer := used.outer().(type) {
	case *ast.AssignStmt:
		for _, one := range outer.Lhs {
			if one == used.whole {
				return "write"
			}
		}
	case *ast.IncDecStmt:
		return "write"
	case *ast.KeyValueExpr:
		if outer.Key == used.whole {
			return "write"
		}
	case *ast.CallExpr:
		if outer.Fun == used.whole {
			return "call"
		}
	}
	return "read"
}

// receiverShape says how the qualifier of a name is written; errors are counted by it.
func receiverShape(of *packages.Package, used use) string {
	if used.selector == nil {
		return "bare"
	}
	switch qualifier := ast.Unparen(used.selector.X).(type) {
	case *ast.Ident:
		switch object := of.TypesInfo.Uses[qualifier].(type) {
		case *types.PkgName:
			return "package.x"
		case *types.TypeName:
			return "Type.x"
		case *types.Var:
			if types.IsInterface(object.Type()) {
				return "interface variable"
			}
			if object.Parent() == of.Types.Scope() {
				return "package variable"
			}
			return "variable"
		}
	case *ast.CallExpr:
		return "call().x"
	case *ast.SelectorExpr:
		return "a.b.x"
	case *ast.IndexExpr:
		return "a[i].x"
	case *ast.TypeAssertExpr:
		return "a.(T).x"
	}
	return "other"
}
