// Recognises lines of code that declare something, by patterns. They find nearly all that a parser finds, in
// a fraction of the time: see docs/decisions/renditions.md.

const modifiers =
  "(?:export|default|declare|public|private|protected|internal|static|async|abstract|final|override|readonly|" +
  "virtual|inline|extern|unsafe|const|sealed|partial|synchronized|pub(?:\\([a-z]+\\))?)";
const keywords =
  "(?:func|function\\*?|class|def|interface|struct|enum|union|trait|impl|type|fn|module|namespace|package|" +
  "object|record|protocol|extension|mod|typedef)";

/** `func (s *Store) Load(`, `export class Store`, `def load(`, `pub fn load<` */
const named = new RegExp(`^\\s*(?:${modifiers}\\s+){0,5}${keywords}\\b\\s*(?:[\\w$*("<]|$)`);

/** `private async load(id: string): Promise<Store> {`, `static int load(const char *path) {`, `load(id) {` */
const called = new RegExp(
  `^\\s*(?:${modifiers}\\s+){0,5}(?:[\\w$.<>:*&,?[\\]]+\\s+){0,3}[*&#~]{0,2}[\\w$:]+\\s*(?:<[^>]*>)?` +
    "\\(.*\\)[^()=]*\\{$",
);
/** `constructor(`, `private async load(`, with the parameters on the lines below. */
const opened = new RegExp(`^\\s*(?:(?:${modifiers}\\s+){1,5}[\\w$]+|constructor)\\($`);
/** Keywords of statements that `called` would take for a declaration with a body. */
const statement =
  /^\s*(?:if|else|for|foreach|while|switch|match|catch|return|do|try|with|await|new|throw|case|elif|except|print|assert|raise|yield|defer|go|select|when|until|unless|super)\b/;

/** `export const load = async (id) => {` */
const assigned =
  /^\s*(?:export\s+)?(?:const|let|var)\s+[\w$]+\s*(?::[^=]+)?=\s*(?:class\b|(?:async\s*)?(?:function\b|\(.*=>|\($|[\w$]+\s*=>))/;

/** The first line of a test counts as a declaration: its name describes the code. */
const tested =
  /^\s*(?:describe|it|test|context|suite|scenario)(?:\.\w+)*\s*(?:\(|"|').*(?:\{|do)$|^\s*t\.Run\(/;

export function isDeclaration(line: string): boolean {
  if (named.test(line) || assigned.test(line) || tested.test(line) || opened.test(line)) return true;
  return line.endsWith("{") && called.test(line) && !statement.test(line);
}
