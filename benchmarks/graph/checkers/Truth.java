import com.sun.source.tree.AnnotatedTypeTree;
import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.PackageTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeCastTree;
import com.sun.source.tree.UnaryTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Prints what javac says of the files of a folder, as the records of ../README.md.
 *
 * <p>java Truth.java ROOT CLASSPATH &lt; FILES &gt; truth.jsonl, with one relative path a line in FILES.
 */
public final class Truth {
  /** Where a declaration is. */
  private record Place(String path, long line, String name) {
    String json() {
      return "[" + quoted(path) + "," + line + "," + quoted(name) + "]";
    }
  }

  private final Path root;
  private final Trees trees;
  private final SourcePositions positions;
  private final Elements elements;
  private final Types types;
  private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
  private final Map<Element, Place> declared = new HashMap<>();
  private final Set<String> names = new HashSet<>();
  private final Map<ExecutableElement, Set<ExecutableElement>> overriders = new HashMap<>();

  private CompilationUnitTree unit;
  private String path = "";
  private String text = "";

  private Truth(Path root, JavacTask task) {
    this.root = root;
    trees = Trees.instance(task);
    positions = trees.getSourcePositions();
    elements = task.getElements();
    types = task.getTypes();
  }

  public static void main(String[] arguments) throws Exception {
    Path root = Paths.get(arguments[0]).toRealPath();
    List<Path> files =
        new String(System.in.readAllBytes(), StandardCharsets.UTF_8).lines().map(root::resolve).collect(Collectors.toList());
    var compiler = ToolProvider.getSystemJavaCompiler();
    var problems = new DiagnosticCollector<JavaFileObject>();
    StandardJavaFileManager manager = compiler.getStandardFileManager(problems, null, StandardCharsets.UTF_8);
    // Attribution goes on after an error: one unknown annotation must not hide the calls of a file.
    List<String> options =
        List.of("-proc:none", "-cp", arguments[1], "-nowarn", "-Xmaxerrs", "100000", "-XDshould-stop.ifError=FLOW");
    var task = (JavacTask) compiler.getTask(null, manager, problems, options, null, manager.getJavaFileObjectsFromPaths(files));
    List<CompilationUnitTree> units = new ArrayList<>();
    task.parse().forEach(units::add);
    task.analyze();
    Truth truth = new Truth(root, task);
    for (var unit : units) truth.open(unit).new Declarations().scan(unit, null);
    for (var element : List.copyOf(truth.declared.keySet())) truth.relate(element);
    for (var unit : units) truth.open(unit).new References().scan(unit, null);
    truth.out.flush();
    for (var problem : problems.getDiagnostics()) {
      if (problem.getKind() == Diagnostic.Kind.ERROR) System.err.println(problem.toString().lines().findFirst().orElse(""));
    }
  }

  private Truth open(CompilationUnitTree opened) throws Exception {
    unit = opened;
    path = root.relativize(Paths.get(opened.getSourceFile().toUri())).toString();
    text = opened.getSourceFile().getCharContent(true).toString();
    return this;
  }

  // ---------------------------------------------------------------- places

  private long line(long position) {
    return unit.getLineMap().getLineNumber(position);
  }

  private long column(long position) {
    return position - unit.getLineMap().getStartPosition(line(position)) + 1;
  }

  private long start(Tree tree) {
    return positions.getStartPosition(unit, tree);
  }

  private long end(Tree tree) {
    return tree == null ? -1 : positions.getEndPosition(unit, tree);
  }

  /** Returns where a name first stands as a whole word from a position on. */
  private long named(String name, long from) {
    for (int found = text.indexOf(name, (int) from); found >= 0; found = text.indexOf(name, found + 1)) {
      int after = found + name.length();
      boolean opens = found == 0 || !Character.isJavaIdentifierPart(text.charAt(found - 1));
      if (opens && (after >= text.length() || !Character.isJavaIdentifierPart(text.charAt(after)))) return found;
    }
    return from;
  }

  // ---------------------------------------------------------------- declarations

  private final class Declarations extends TreePathScanner<Void, Void> {
    @Override
    public Void visitCompilationUnit(CompilationUnitTree tree, Void nothing) {
      out.println("{\"record\":\"file\",\"path\":" + quoted(path) + "}");
      return super.visitCompilationUnit(tree, nothing);
    }

    @Override
    public Void visitClass(ClassTree tree, Void nothing) {
      String name = tree.getSimpleName().toString();
      if (!name.isEmpty()) {
        boolean isInterface = tree.getKind() == Tree.Kind.INTERFACE || tree.getKind() == Tree.Kind.ANNOTATION_TYPE;
        add(tree, name, Math.max(start(tree), end(tree.getModifiers())), isInterface ? "interface" : "class");
      } else if (element() != null) {
        TreePath outer = getCurrentPath().getParentPath();
        declared.put(element(), new Place(path, line(start(outer.getLeaf())), ""));
      }
      return super.visitClass(tree, nothing);
    }

    @Override
    public Void visitMethod(MethodTree tree, Void nothing) {
      if (end(tree) < 0 || elements.getOrigin(element()) == Elements.Origin.MANDATED) return null;
      boolean constructs = tree.getReturnType() == null;
      String name = constructs ? element().getEnclosingElement().getSimpleName().toString() : tree.getName().toString();
      long from = Math.max(start(tree), Math.max(end(tree.getReturnType()), end(tree.getModifiers())));
      if (!name.isEmpty()) add(tree, name, from, constructs ? "constructor" : "method");
      return super.visitMethod(tree, nothing);
    }

    @Override
    public Void visitVariable(VariableTree tree, Void nothing) {
      if (getCurrentPath().getParentPath().getLeaf() instanceof ClassTree && end(tree) >= 0) {
        add(tree, tree.getName().toString(), Math.max(start(tree), end(tree.getModifiers())), "field");
      }
      return super.visitVariable(tree, nothing);
    }

    private Element element() {
      return trees.getElement(getCurrentPath());
    }

    private void add(Tree tree, String name, long from, String kind) {
      Element element = element();
      if (element == null || start(tree) < 0) return;
      long at = named(name, from);
      declared.put(element, new Place(path, line(at), name));
      names.add(name);
      out.printf(
          "{\"record\":\"symbol\",\"path\":%s,\"line\":%d,\"column\":%d,\"start_line\":%d,\"end_line\":%d,\"name\":%s,"
              + "\"qualified\":%s,\"kind\":%s,\"local\":%b}%n",
          quoted(path), line(at), column(at), line(start(tree)), line(end(tree)), quoted(name),
          quoted(String.join(".", qualifiers(element))), quoted(kind), isLocal());
    }

    private boolean isLocal() {
      for (TreePath at = getCurrentPath().getParentPath(); at != null; at = at.getParentPath()) {
        Tree outer = at.getLeaf();
        boolean isAnonymous = outer instanceof ClassTree type && type.getSimpleName().length() == 0;
        if (isAnonymous || outer instanceof MethodTree || outer instanceof LambdaExpressionTree) return true;
      }
      return false;
    }
  }

  /** Returns the names of a declaration and of the declarations around it, the outermost first. */
  private static List<String> qualifiers(Element element) {
    var found = new LinkedList<String>();
    for (Element at = element; at != null && at.getKind() != ElementKind.PACKAGE; at = at.getEnclosingElement()) {
      boolean constructs = at.getKind() == ElementKind.CONSTRUCTOR;
      found.addFirst((constructs ? at.getEnclosingElement() : at).getSimpleName().toString());
    }
    return found;
  }

  // ---------------------------------------------------------------- pairs

  private void relate(Element element) {
    if (element instanceof TypeElement type) {
      for (TypeMirror base : types.directSupertypes(type.asType())) {
        Element other = types.asElement(base);
        boolean implemented = other.getKind() == ElementKind.INTERFACE && type.getKind() != ElementKind.INTERFACE;
        pair(implemented ? "implements" : "extends", declared.get(type), other);
      }
    } else if (element instanceof ExecutableElement method && isVirtual(method)) {
      TypeElement owner = (TypeElement) method.getEnclosingElement();
      for (TypeElement base : supertypes(owner, new LinkedHashSet<>())) {
        for (Element other : base.getEnclosedElements()) {
          if (other instanceof ExecutableElement below && elements.overrides(method, below, owner)) {
            pair("overrides", declared.get(method), below);
            overriders.computeIfAbsent(below, none -> new LinkedHashSet<>()).add(method);
          }
        }
      }
    }
  }

  private Set<TypeElement> supertypes(TypeElement of, Set<TypeElement> found) {
    for (TypeMirror base : types.directSupertypes(of.asType())) {
      if (types.asElement(base) instanceof TypeElement type && found.add(type)) supertypes(type, found);
    }
    return found;
  }

  private static boolean isVirtual(ExecutableElement method) {
    Set<Modifier> modifiers = method.getModifiers();
    return method.getKind() == ElementKind.METHOD
        && !modifiers.contains(Modifier.STATIC)
        && !modifiers.contains(Modifier.PRIVATE);
  }

  private void pair(String kind, Place source, Element of) {
    Place target = declared.get(of);
    if (target == null || source == null) return;
    out.printf("{\"record\":\"pair\",\"kind\":%s,\"source\":%s,\"target\":%s}%n", quoted(kind), source.json(), target.json());
  }

  /** Returns the project's methods that a call may reach when the receiver has a type or one below it. */
  private Collection<Place> dispatch(ExecutableElement method, TypeMirror receiver) {
    if (receiver == null || receiver.getKind() != TypeKind.DECLARED) return List.of();
    TypeMirror wanted = types.erasure(receiver);
    return overriders.getOrDefault(method, Set.of()).stream()
        .filter(one -> types.isSubtype(types.erasure(one.getEnclosingElement().asType()), wanted))
        .map(declared::get)
        .collect(Collectors.toList());
  }

  // ---------------------------------------------------------------- references

  private final class References extends TreePathScanner<Void, Void> {
    @Override
    public Void visitIdentifier(IdentifierTree tree, Void nothing) {
      String name = tree.getName().toString();
      Element element = trees.getElement(getCurrentPath());
      if (name.equals("this") || name.equals("super")) {
        if (element != null && element.getKind() == ElementKind.CONSTRUCTOR) {
          name = element.getEnclosingElement().getSimpleName().toString();
          print(name, "call", start(tree), List.of(element), "this() or super()", null);
        }
      } else {
        refer(name, start(tree), element, null);
      }
      return super.visitIdentifier(tree, nothing);
    }

    @Override
    public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
      String name = tree.getIdentifier().toString();
      refer(name, end(tree) - name.length(), trees.getElement(getCurrentPath()), tree.getExpression());
      return super.visitMemberSelect(tree, nothing);
    }

    @Override
    public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
      Element element = trees.getElement(getCurrentPath());
      implementer(tree);
      if (tree.getMode() == MemberReferenceTree.ReferenceMode.INVOKE) {
        String name = tree.getName().toString();
        print(name, "value", end(tree) - name.length(), known(element), shape(tree.getQualifierExpression()), null);
      } else if (element != null) {
        String name = element.getEnclosingElement().getSimpleName().toString();
        print(name, "instantiate", start(tree), List.of(element.getEnclosingElement(), element), "Type::new", null);
      }
      return super.visitMemberReference(tree, nothing);
    }

    @Override
    public Void visitLambdaExpression(LambdaExpressionTree tree, Void nothing) {
      implementer(tree);
      return super.visitLambdaExpression(tree, nothing);
    }

    @Override
    public Void visitMethod(MethodTree tree, Void nothing) {
      return end(tree) < 0 || start(tree) == end(tree) ? null : super.visitMethod(tree, nothing);
    }

    private void implementer(Tree tree) {
      TypeMirror type = trees.getTypeMirror(getCurrentPath());
      if (type instanceof DeclaredType known) {
        pair("lambda", new Place(path, line(start(tree)), ""), known.asElement());
      }
    }

    private void refer(String name, long at, Element element, ExpressionTree qualifier) {
      if (!names.contains(name) || at < 0) return;
      TreePath around = getCurrentPath().getParentPath();
      boolean isType = element instanceof TypeElement;
      String kind = isType ? kindOfType(around) : kindOfValue(around, element);
      List<Element> found = new ArrayList<>(known(element));
      if (kind.equals("instantiate") && element != null) {
        Element constructor = trees.getElement(creation(around));
        if (constructor != null) found.add(constructor);
      }
      TypeMirror receiver = null;
      if (qualifier != null) {
        TreePath before = new TreePath(getCurrentPath(), qualifier);
        receiver = isSuper(qualifier) ? null : trees.getTypeMirror(before);
      } else if (element instanceof ExecutableElement && element.getEnclosingElement() != null) {
        receiver = element.getEnclosingElement().asType();
      }
      print(name, kind, at, found, qualifier == null ? "bare" : shape(qualifier), receiver);
    }

    private List<Element> known(Element element) {
      boolean isError = element == null || element.asType().getKind() == TypeKind.ERROR;
      return isError ? List.of() : List.of(element);
    }

    private void print(String name, String kind, long at, List<Element> found, String shape, TypeMirror receiver) {
      if (!names.contains(name) || at < 0) return;
      List<Place> targets = new ArrayList<>();
      for (Element one : found) if (declared.containsKey(one)) targets.add(declared.get(one));
      Collection<Place> dispatch = List.of();
      if (kind.equals("call") && !targets.isEmpty() && found.get(0) instanceof ExecutableElement method) {
        dispatch = dispatch(method, receiver);
      }
      String decided = "outside";
      if (found.isEmpty()) decided = "unknown";
      else if (!targets.isEmpty()) decided = "project";
      else if (isLocal(found.get(0))) decided = "local";
      out.printf(
          "{\"record\":\"site\",\"path\":%s,\"line\":%d,\"column\":%d,\"name\":%s,\"kind\":%s,\"found\":%s,"
              + "\"targets\":%s,\"dispatch\":%s,\"receiver\":%s}%n",
          quoted(path), line(at), column(at), quoted(name), quoted(kind), quoted(decided), list(targets), list(dispatch),
          quoted(shape));
    }

    private boolean isLocal(Element element) {
      return switch (element.getKind()) {
        case LOCAL_VARIABLE, PARAMETER, EXCEPTION_PARAMETER, RESOURCE_VARIABLE, BINDING_VARIABLE, TYPE_PARAMETER, PACKAGE -> true;
        default -> false;
      };
    }

    private String kindOfValue(TreePath around, Element element) {
      Tree outer = around.getLeaf();
      Tree self = getCurrentPath().getLeaf();
      if (outer instanceof MethodInvocationTree call && call.getMethodSelect() == self) return "call";
      if (inImport(around)) return "import";
      boolean isAssigned =
          outer instanceof AssignmentTree one && one.getVariable() == self
              || outer instanceof CompoundAssignmentTree two && two.getVariable() == self
              || outer instanceof UnaryTree && outer.getKind().name().endsWith("CREMENT");
      if (isAssigned) return "write";
      return element == null || element.getKind().isField() ? "read" : "value";
    }

    private String kindOfType(TreePath around) {
      if (inImport(around)) return "import";
      if (creation(around) != null) return "instantiate";
      Tree self = getCurrentPath().getLeaf();
      TreePath at = around;
      for (; isTypeAround(at.getLeaf(), self); at = at.getParentPath()) self = at.getLeaf();
      Tree last = self;
      boolean isBase =
          at.getLeaf() instanceof ClassTree type && (type.getExtendsClause() == last || type.getImplementsClause().contains(last));
      return isBase ? "base" : "type";
    }

    /** Returns the path of `new T(...)` around the name of T, or null. */
    private TreePath creation(TreePath around) {
      Tree self = getCurrentPath().getLeaf();
      TreePath at = around;
      for (; isTypeAround(at.getLeaf(), self); at = at.getParentPath()) self = at.getLeaf();
      return at.getLeaf() instanceof NewClassTree one && one.getIdentifier() == self ? at : null;
    }

    private boolean isTypeAround(Tree outer, Tree inner) {
      return outer instanceof ParameterizedTypeTree one && one.getType() == inner
          || outer instanceof AnnotatedTypeTree two && two.getUnderlyingType() == inner;
    }

    private boolean inImport(TreePath around) {
      for (TreePath at = around; at != null; at = at.getParentPath()) {
        if (at.getLeaf() instanceof ImportTree || at.getLeaf() instanceof PackageTree) return true;
      }
      return false;
    }

    private boolean isSuper(ExpressionTree qualifier) {
      return qualifier.toString().equals("super") || qualifier.toString().endsWith(".super");
    }

    /** Says how the qualifier of a name is written; errors are counted by it. */
    private String shape(Tree qualifier) {
      if (qualifier instanceof ParenthesizedTree outer) return shape(outer.getExpression());
      if (qualifier instanceof TypeCastTree) return "cast";
      if (qualifier instanceof NewClassTree) return "new T().x";
      if (qualifier instanceof MethodInvocationTree) return "call().x";
      if (qualifier instanceof LiteralTree) return "literal";
      if (qualifier instanceof IdentifierTree name) {
        String written = name.getName().toString();
        if (written.equals("this") || written.equals("super")) return written;
        Element element = trees.getElement(new TreePath(getCurrentPath(), qualifier));
        if (element == null) return "unknown name";
        return element instanceof TypeElement ? "Type.x" : element.getKind().toString().toLowerCase();
      }
      return qualifier instanceof MemberSelectTree ? "a.b.x" : "other";
    }
  }

  // ---------------------------------------------------------------- JSON

  private static String list(Collection<Place> places) {
    return places.stream().map(Place::json).collect(Collectors.joining(",", "[", "]"));
  }

  private static String quoted(String value) {
    var written = new StringBuilder("\"");
    for (char one : value.toCharArray()) {
      if (one == '"' || one == '\\') written.append('\\');
      written.append(one < ' ' ? ' ' : one);
    }
    return written.append('"').toString();
  }
}
