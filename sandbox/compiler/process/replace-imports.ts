import { parse } from 'es-module-lexer/js'
import { importName } from '../../protocol/import-name.ts'

/** An `import()` of a module by its name. Messages of libraries contain some, too. */
const named = /import\s*\(\s*(?:\/\*[^*]*\*\/\s*)?["'`][@\w][^"'`\n]{0,100}["'`]\s*\)/g

/** The beginning of a module in a bundle of esbuild, as `var one = other((exports, module) => {`. */
const moduleStart = /var [\w$]+\s*=\s*[\w$]+\(\([\w$, ]*\)\s*=>\s*\{/y

/**
 * Upper bound of the code that is parsed for one bundle. The modules of an agent of the published runtime that have an `import()` are
 * 5 MB, which take 1 s without a JIT.
 */
const maxCharacters = 8_000_000

/**
 * Makes each `import()` of a named module in a bundle a call of `importName`, which the kernel provides: isolated-vm gives V8 no way to
 * import a module, so V8 would reject every `import()` with "Not supported". Bundlers leave it as it is where it names a module of
 * Node. Strings, comments and methods of that name stay as they are.
 */
export function replaceImports(code: string): string {
  if (code.includes(importName)) return code
  let result = ''
  let done = 0
  for (const start of importsIn(code)) {
    result += code.slice(done, start) + importName
    done = start + importName.length
  }
  return done === 0 ? code : result + code.slice(done)
}

/** The positions of `import()`, as far as the upper bound allows. Only the modules of the bundle that seem to have one are parsed. */
function importsIn(code: string): number[] {
  const found: number[] = []
  let left = maxCharacters
  let [end, inModule] = [0, new Set<number>()]
  for (const { index: at } of code.matchAll(named)) {
    if (at >= end) {
      const start = startBefore(code, at)
      end = startAfter(code, at)
      left -= end - start
      if (left < 0) return found
      inModule = parsedImports(code.slice(start, end), start)
    }
    if (inModule.has(at)) found.push(at)
  }
  return found
}

/** The start of the module of the bundle in which a position is. */
function startBefore(code: string, position: number): number {
  for (let at = position; at >= 0 && position - at <= maxCharacters; at = code.lastIndexOf('var ', at - 1)) {
    if (isAt(moduleStart, code, at)) return at
    if (at === 0) return 0
  }
  return position > maxCharacters ? position - maxCharacters : 0
}

/** The start of the next module of the bundle, or the end of the bundle. */
function startAfter(code: string, position: number): number {
  for (let at = code.indexOf('var ', position); at >= 0; at = code.indexOf('var ', at + 1)) {
    if (at - position > maxCharacters) return at
    if (isAt(moduleStart, code, at)) return at
  }
  return code.length
}

function isAt(pattern: RegExp, code: string, position: number): boolean {
  pattern.lastIndex = position
  return pattern.test(code)
}

/** The positions of `import()` in a part of a bundle; none where the lexer rejects it. */
function parsedImports(part: string, offset: number): Set<number> {
  try {
    const [imports] = parse(part)
    const found = imports.filter((each) => each.type === 'dynamic' && each.phase === null)
    return new Set(found.map(({ importStart }) => offset + importStart))
  } catch {
    return new Set()
  }
}
