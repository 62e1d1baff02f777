// Prints what the TypeScript checker says of the files of a folder, as the records of ../README.md.
//
//   NODE_PATH=TOOLS/node_modules node typescript.cjs ROOT < FILES > truth.jsonl
//
// FILES has one relative path a line. A declaration file beside a JavaScript file of the list is hidden from the checker,
// so that a reference leads to the code. So is a script that declares a module with the name of a package of the folder:
// the checker would take it for that package in all files, since it knows only one program.
"use strict";

const fs = require("fs");
const path = require("path");
const ts = require("typescript");

const root = fs.realpathSync(process.argv[2]);
const files = fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((name) => path.join(root, name));
const own = new Set(files);
const packages = new Set(files.map(packageAround));
const hidden = new Set([
  ...files.filter((name) => /\.[cm]?js$/.test(name)).map((name) => name.replace(/\.([cm]?)js$/, ".d.$1ts")),
  ...files.filter((name) => name.endsWith(".d.ts") && modulesOf(name).some((module) => packages.has(module))),
]);

const program = createProgram();
const checker = program.getTypeChecker();
const sources = program.getSourceFiles().filter((source) => own.has(source.fileName));

const symbols = new Map(); // From the place of a declaration to its record.
const names = new Set();
const classes = []; // {symbol, above}: every class and interface with all that is above it.
const overriders = new Map(); // From the place of a member to {place, owner} of what overrides it.
const lines = [];

main();

function main() {
  for (const source of sources) {
    print({ record: "file", path: relative(source) });
    each(source, declare);
  }
  for (const source of sources) each(source, relate);
  for (const source of sources) each(source, relateObject);
  for (const source of sources) each(source, relateFunction);
  for (const source of sources) each(source, refer);
  process.stdout.write(lines.join("\n") + "\n");
}

function createProgram() {
  const found = path.join(root, "tsconfig.json");
  const config = fs.existsSync(found) ? ts.getParsedCommandLineOfConfigFile(found, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} }) : null;
  const configured = config ? config.options : { strict: true, target: ts.ScriptTarget.ESNext, types: ["node"] };
  const options = {
    ...configured,
    allowJs: true, checkJs: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, composite: false,
    incremental: false, emitDeclarationOnly: false, declaration: false, rootDir: undefined,
    module: ts.ModuleKind.Preserve, moduleResolution: ts.ModuleResolutionKind.Bundler,
    jsx: configured.jsx || ts.JsxEmit.Preserve,
  };
  const host = ts.createCompilerHost(options, true);
  const exists = host.fileExists.bind(host);
  host.fileExists = (name) => !hidden.has(name) && exists(name);
  return ts.createProgram(files.filter((name) => !hidden.has(name)), options, host);
}

function packageAround(name) {
  const found = ts.findConfigFile(path.dirname(name), ts.sys.fileExists, "package.json");
  return found && JSON.parse(fs.readFileSync(found, "utf8")).name;
}

function modulesOf(name) {
  return ts.preProcessFile(fs.readFileSync(name, "utf8")).ambientExternalModules || [];
}

function print(record) {
  lines.push(JSON.stringify(record));
}

function each(source, visit) {
  (function walk(node) {
    visit(node);
    ts.forEachChild(node, walk);
  })(source);
}

// ---------------------------------------------------------------- places

function relative(source) {
  return path.relative(root, source.fileName);
}

function at(node) {
  const source = node.getSourceFile();
  const { line, character } = source.getLineAndCharacterOfPosition(node.getStart());
  return { path: relative(source), line: line + 1, column: character + 1 };
}

function key(node) {
  const { path: file, line, column } = at(node);
  return `${file}:${line}:${column}`;
}

function place(record) {
  return [record.path, record.line, record.name];
}

// ---------------------------------------------------------------- declarations

function isFunction(node) {
  return Boolean(node) && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));
}

/** Tell whether a variable is a function, or what a call makes of one, if that can be called: `memo(() => ...)`. */
function holdsFunction({ name, initializer }) {
  const isWrapped = initializer && ts.isCallExpression(initializer) && initializer.arguments.some(isFunction);
  return isFunction(initializer) || (isWrapped && checker.getTypeAtLocation(name).getCallSignatures().length > 0);
}

function kindOf(node) {
  if (ts.isFunctionDeclaration(node)) return "function";
  if (ts.isMethodDeclaration(node) || ts.isMethodSignature(node)) return "method";
  if (ts.isGetAccessor(node) || ts.isSetAccessor(node)) return "property";
  if (ts.isClassLike(node)) return "class";
  if (ts.isInterfaceDeclaration(node)) return "interface";
  if (ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node)) return "type";
  if (ts.isVariableDeclaration(node)) return holdsFunction(node) ? "function" : "";
  if (ts.isPropertyAssignment(node)) return isFunction(node.initializer) ? "method" : "";
  if (ts.isPropertySignature(node)) return node.type && ts.isFunctionTypeNode(node.type) ? "method" : "field";
  if (ts.isPropertyDeclaration(node)) return isFunction(node.initializer) ? "method" : "field";
  return "";
}

/** Return what is declared by `a.b = function` or `a.prototype.b = function`. */
function assigned(node) {
  const is = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return is && isFunction(node.right) && ts.isPropertyAccessExpression(node.left) ? node.left.name : undefined;
}

function declare(node) {
  const imported = importedName(node);
  if (imported) names.add(imported.text);
  const property = assigned(node);
  const name = property || node.name;
  const kind = property ? "function" : kindOf(node);
  if (!kind || !name || !(ts.isIdentifier(name) || ts.isPrivateIdentifier(name))) return;
  const source = node.getSourceFile();
  const whole = ts.isVariableDeclaration(node) && ts.isVariableStatement(node.parent.parent) ? node.parent.parent : node;
  const record = {
    record: "symbol", ...at(name),
    start_line: at(whole).line, end_line: source.getLineAndCharacterOfPosition(whole.end).line + 1,
    name: name.text, qualified: [...owners(node), name.text].join("."), kind, local: isLocal(node),
  };
  symbols.set(key(name), record);
  names.add(name.text);
  print(record);
}

/** Return the name by which a file knows something of another file, where it may choose that name. */
function importedName(node) {
  if (ts.isImportSpecifier(node) || ts.isImportClause(node)) return node.name;
  const isRequired = ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer && isRequire(node.initializer);
  return isRequired ? node.name : undefined;
}

function isRequire(node) {
  if (ts.isPropertyAccessExpression(node)) return isRequire(node.expression);
  return ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "require";
}

/** Return the names of the classes, interfaces, modules and objects around a declaration, the outermost first. */
function owners(node) {
  const found = [];
  for (let outer = node.parent; outer; outer = outer.parent) {
    const isType = ts.isClassLike(outer) || ts.isInterfaceDeclaration(outer) || ts.isModuleDeclaration(outer) || ts.isTypeAliasDeclaration(outer);
    if ((isType || ts.isVariableDeclaration(outer) || ts.isPropertyAssignment(outer)) && outer.name) found.unshift(outer.name.text);
  }
  return found;
}

/** Tell whether a declaration is inside a function, or in an object or type that is only handed over. */
function isLocal(node) {
  for (let outer = node.parent; outer; outer = outer.parent) {
    if (ts.isFunctionLike(outer) || (ts.isObjectLiteralExpression(outer) && isHandedOver(outer))) return true;
    if (ts.isTypeLiteralNode(outer) && !ts.isTypeAliasDeclaration(outer.parent)) return true;
  }
  return false;
}

function isHandedOver(object) {
  const { parent } = object;
  return !(ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isBinaryExpression(parent) || ts.isExportAssignment(parent));
}

// ---------------------------------------------------------------- pairs

function relate(node) {
  if (!((ts.isClassLike(node) && node.name) || ts.isInterfaceDeclaration(node))) return;
  const record = symbols.get(key(node.name));
  const symbol = checker.getSymbolAtLocation(node.name);
  if (!record || !symbol) return;
  for (const clause of node.heritageClauses || []) {
    const kind = clause.token === ts.SyntaxKind.ImplementsKeyword ? "implements" : "extends";
    for (const written of clause.types) pair(kind, record, unalias(checker.getSymbolAtLocation(written.expression)));
  }
  const above = new Set();
  collectAbove(symbol, above);
  classes.push({ symbol, above });
  for (const member of node.members) {
    const overriding = member.name && ts.isIdentifier(member.name) && symbols.get(key(member.name));
    if (!overriding || ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Static) continue;
    for (const base of above) {
      const below = base.members && base.members.get(member.name.escapedText);
      pair("overrides", overriding, below);
      for (const one of declarationsOf(below)) {
        overriders.set(one, [...(overriders.get(one) || []), { to: place(overriding), owner: symbol }]);
      }
    }
  }
}

/** An object implements what its place expects, and its functions override members of that: nobody has to list them. */
function relateObject(node) {
  const expected = ts.isObjectLiteralExpression(node) && checker.getContextualType(node);
  const { path: file, line } = expected ? at(node) : {};
  for (const type of expected ? (expected.isUnion() ? expected.types : [expected]) : []) {
    const types = new Set();
    for (const member of node.properties) {
      const above = member.name && ts.isIdentifier(member.name) && type.getProperty(member.name.text);
      const own = functionOf(member);
      if (!above || !own) continue;
      if (symbols.has(key(own))) pair("lambda", symbols.get(key(own)), above);
      for (const one of above.declarations || []) types.add(one.parent);
      if (type.symbol) collectAbove(type.symbol, types);
      for (const symbol of [type.symbol, type.aliasSymbol]) types.add(symbol);
    }
    for (const one of types) {
      for (const declaration of (one && one.declarations) || [one]) beside([file, line, ""], declaration);
    }
  }
}

/** A function is of the type that its place expects, where it is written and where it is named. */
function relateFunction(node) {
  const own = isFunction(node) ? node : ts.isIdentifier(node) && ts.isExpression(node) && functionNamed(node);
  const expected = own && checker.getContextualType(node);
  for (const type of expected ? (expected.isUnion() ? expected.types : [expected]) : []) {
    const { path: file, line } = at(own);
    for (const symbol of [type.symbol, type.aliasSymbol]) {
      for (const one of (symbol && symbol.declarations) || []) beside([file, line, ""], ts.isFunctionTypeNode(one) ? one.parent : one);
    }
  }
}

function functionNamed(node) {
  const name = functionOfSymbol(unalias(checker.getSymbolAtLocation(node)));
  return name !== node ? name : undefined;
}

function functionOfSymbol(symbol) {
  const declaration = symbol && symbol.valueDeclaration;
  const is = declaration && (ts.isFunctionDeclaration(declaration) || (ts.isVariableDeclaration(declaration) && isFunction(declaration.initializer)));
  return is ? declaration.name : undefined;
}

/** Print that something may be below a type: nobody has to list it. */
function beside(source, type) {
  const target = type && type.name && symbols.get(key(type.name));
  if (target) print({ record: "pair", kind: "lambda", source, target: place(target) });
}

/** Return the name of the function that a part of an object is or names. */
function functionOf(member) {
  if (ts.isMethodDeclaration(member) || (ts.isPropertyAssignment(member) && isFunction(member.initializer))) return member.name;
  const isNamed = ts.isShorthandPropertyAssignment(member) || (ts.isPropertyAssignment(member) && ts.isIdentifier(member.initializer));
  const symbol = isNamed && unalias(nextSymbol(member));
  return symbol ? functionOfSymbol(symbol) : undefined;
}

function collectAbove(symbol, found) {
  for (const declaration of symbol.declarations || []) {
    for (const clause of declaration.heritageClauses || []) {
      for (const written of clause.types) {
        const base = unalias(checker.getSymbolAtLocation(written.expression));
        if (base && base !== symbol && !found.has(base)) {
          found.add(base);
          collectAbove(base, found);
        }
      }
    }
  }
}

function pair(kind, source, symbol) {
  for (const one of declarationsOf(symbol)) {
    const target = symbols.get(one);
    if (target && target !== source) print({ record: "pair", kind, source: place(source), target: place(target) });
  }
}

function declarationsOf(symbol) {
  return ((symbol && symbol.declarations) || []).map((one) => key(nameOf(one))).filter((one) => symbols.has(one));
}

/** Return the methods that a call through a type may reach, besides the one that it names. */
function dispatch(targets, receiver) {
  const through = receiver && receiver.getSymbol();
  const found = new Map();
  for (const target of targets) {
    for (const { to, owner } of overriders.get(target) || []) {
      const known = classes.find((one) => one.symbol === owner);
      if (!through || owner === through || known.above.has(through)) found.set(to.join(), to);
    }
  }
  return [...found.values()];
}

// ---------------------------------------------------------------- references

function unalias(symbol) {
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** Collect the declarations that a symbol leads to, through shorthands, destructuring and `{name: other}`. */
function follow(symbol, found, depth = 0) {
  for (const declaration of (symbol && symbol.declarations) || []) {
    const one = key(nameOf(declaration));
    const next = depth < 4 ? nextSymbol(declaration) : undefined;
    if (!own.has(declaration.getSourceFile().fileName)) found.outside = true;
    else if (next && unalias(next) !== symbol) follow(unalias(next), found, depth + 1);
    else if (symbols.has(one)) found.targets.add(one);
    else found.local = true;
  }
}

function nameOf(declaration) {
  return declaration.name || assigned(declaration) || declaration;
}

function nextSymbol(declaration) {
  if (ts.isShorthandPropertyAssignment(declaration)) return checker.getShorthandAssignmentValueSymbol(declaration);
  if (ts.isPropertyAssignment(declaration) && ts.isIdentifier(declaration.initializer)) return checker.getSymbolAtLocation(declaration.initializer);
  if (ts.isBindingElement(declaration)) return boundProperty(declaration);
  if (ts.isBinaryExpression(declaration) && isRequire(declaration.right)) return checker.getTypeAtLocation(declaration.right).symbol;
  return undefined;
}

function boundProperty(element) {
  if (!ts.isObjectBindingPattern(element.parent) || element.dotDotDotToken) return undefined;
  const name = element.propertyName || element.name;
  if (!ts.isIdentifier(name)) return undefined;
  const property = checker.getTypeAtLocation(element.parent).getProperty(name.text);
  return property && (!property.declarations || property.declarations[0] !== element) ? property : undefined;
}

function refer(node) {
  if (!(ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) || !names.has(node.text)) return;
  const kind = kindOfUse(node);
  if (!kind) return;
  const found = { targets: new Set(), outside: false, local: false };
  follow(referred(node), found);
  const { parent } = node;
  const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node;
  const receiver = isMember && parent.expression.kind !== ts.SyntaxKind.SuperKeyword ? checker.getTypeAtLocation(parent.expression) : undefined;
  const reached = kind === "call" && isMember && receiver ? dispatch(found.targets, receiver) : [];
  const targets = [...found.targets].map((one) => symbols.get(one));
  print({
    record: "site", ...at(node), name: node.text, kind: refined(kind, targets), found: decided(found),
    targets: targets.map(place), dispatch: reached, receiver: isMember ? shape(parent.expression) : "bare",
  });
}

function referred(node) {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return unalias(checker.getShorthandAssignmentValueSymbol(parent));
  if (ts.isBindingElement(parent) && (parent.propertyName || parent.name) === node) return unalias(boundProperty(parent));
  return unalias(checker.getSymbolAtLocation(node));
}

function decided({ targets, outside, local }) {
  if (targets.size) return "project";
  if (outside) return "outside";
  return local ? "local" : "unknown";
}

function refined(kind, targets) {
  const isData = kind === "value" && targets.length && targets.every((one) => one.kind === "field" || one.kind === "property");
  return isData ? "read" : kind;
}

/** Return how an identifier is used, or "" where it only declares. */
function kindOfUse(node) {
  const { parent } = node;
  if (ts.isBindingElement(parent)) {
    return (parent.propertyName || parent.name) === node && ts.isObjectBindingPattern(parent.parent) ? "destructure" : "";
  }
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isImportClause(parent) || ts.isExportAssignment(parent)) return "import";
  if (ts.isJsxClosingElement(parent) || ts.isJsxAttribute(parent)) return "";
  const declares = parent.name === node && !ts.isPropertyAccessExpression(parent) && !ts.isShorthandPropertyAssignment(parent);
  if (declares || (parent.parent && assigned(parent.parent) === node)) return "";
  if (ts.isJsxOpeningLikeElement(parent)) return "call";
  if (ts.isTypeReferenceNode(parent) || ts.isQualifiedName(parent) || ts.isTypeQueryNode(parent)) return "type";
  let whole = ts.isPropertyAccessExpression(parent) && parent.name === node ? parent : node;
  if (ts.isExpressionWithTypeArguments(whole.parent)) return "base";
  while (ts.isParenthesizedExpression(whole.parent) || ts.isNonNullExpression(whole.parent)) whole = whole.parent;
  return kindOfExpression(whole, whole.parent);
}

function kindOfExpression(whole, outer) {
  if (ts.isNewExpression(outer) && outer.expression === whole) return "instantiate";
  if (ts.isCallExpression(outer) && outer.expression === whole) return "call";
  if ((ts.isTaggedTemplateExpression(outer) && outer.tag === whole) || ts.isDecorator(outer)) return "call";
  const isAssigned = ts.isBinaryExpression(outer) && outer.left === whole && ts.isAssignmentOperator(outer.operatorToken.kind);
  return isAssigned ? "write" : "value";
}

/** Say how the qualifier of a name is written; errors are counted by it. */
function shape(node) {
  if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node)) return shape(node.expression);
  if (node.kind === ts.SyntaxKind.ThisKeyword) return "this";
  if (node.kind === ts.SyntaxKind.SuperKeyword) return "super";
  if (ts.isNewExpression(node)) return "new T().x";
  if (ts.isCallExpression(node)) return "call().x";
  if (ts.isAwaitExpression(node)) return "(await a).x";
  if (ts.isAsExpression(node)) return "(a as T).x";
  if (ts.isElementAccessExpression(node)) return "a[i].x";
  if (ts.isPropertyAccessExpression(node)) return node.expression.kind === ts.SyntaxKind.ThisKeyword ? "this.a.x" : "a.b.x";
  if (ts.isLiteralExpression(node) || ts.isArrayLiteralExpression(node)) return "literal";
  return ts.isIdentifier(node) ? shapeOfName(node) : "other";
}

function shapeOfName(node) {
  const symbol = checker.getSymbolAtLocation(node);
  const declaration = symbol && symbol.declarations && symbol.declarations[0];
  if (!declaration) return "undeclared name";
  if (ts.isNamespaceImport(declaration)) return "namespace import";
  if (ts.isImportSpecifier(declaration) || ts.isImportClause(declaration)) return "imported name";
  if (ts.isParameter(declaration)) {
    if (declaration.type) return "typed parameter";
    return isFunction(declaration.parent) && !ts.isVariableDeclaration(declaration.parent.parent) ? "callback parameter" : "untyped parameter";
  }
  if (ts.isBindingElement(declaration)) return "destructured";
  if (!ts.isVariableDeclaration(declaration)) return ts.SyntaxKind[declaration.kind];
  if (declaration.type) return "typed variable";
  const value = declaration.initializer && ts.isAwaitExpression(declaration.initializer) ? declaration.initializer.expression : declaration.initializer;
  if (value && ts.isNewExpression(value)) return "variable = new T()";
  return value && ts.isCallExpression(value) ? "variable = call()" : "variable";
}
