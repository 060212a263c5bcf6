import { parse } from 'es-module-lexer/js'

/** The name of the function that takes the place of `import`. It is as long, so that positions in the code stay the same. */
export const importName = '$impor'

/** An `import()` of a module by its name. Messages of libraries contain some, too. */
const named = /import\s*\(\s*(?:\/\*[^*]*\*\/\s*)?["'`][@\w][^"'`\n]{0,100}["'`]\s*\)/y

/** The beginning of a module in a bundle of esbuild, as `var one = other((exports, module) => {`. */
const moduleStart = /var [\w$]+\s*=\s*[\w$]+\(\([\w$, ]*\)\s*=>\s*\{/y

/**
 * Upper bound of the code that is parsed for one bundle. Without a JIT, a MB of ordinary code takes 0.2 s, and host calls of other
 * runs wait meanwhile.
 */
const maxCharacters = 1_000_000
const maxKnown = 1000

/**
 * Makes each `import()` of a named module in bundles a call of `importName`, which the kernel provides: isolated-vm gives V8 no way to
 * import a module, so V8 would reject every `import()` with "Not supported". Bundlers leave it as it is where it names a module of
 * Node. Strings, comments and methods of that name stay as they are.
 */
export class DynamicImports {
  /** The positions in bundles, by id, so that a bundle which is loaded again and again is parsed once. */
  readonly #known = new Map<string, number[]>()

  replaceIn(bundle: string, code: string): string {
    if (code.includes(importName)) return code
    let result = ''
    let done = 0
    for (const start of this.#positionsIn(bundle, code)) {
      result += code.slice(done, start) + importName
      done = start + importName.length
    }
    return done === 0 ? code : result + code.slice(done)
  }

  #positionsIn(bundle: string, code: string): number[] {
    const positions = this.#known.get(bundle) ?? importsIn(code)
    this.#known.delete(bundle)
    this.#known.set(bundle, positions)
    if (this.#known.size > maxKnown) this.#known.delete(this.#known.keys().next().value!)
    return positions
  }
}

/** The positions of `import()`, as far as the upper bound allows. Only the modules of the bundle that seem to have one are parsed. */
function importsIn(code: string): number[] {
  const found: number[] = []
  let left = maxCharacters
  let [end, inModule] = [0, new Set<number>()]
  for (let at = code.indexOf('import'); at >= 0; at = code.indexOf('import', at + 1)) {
    if (!isAt(named, code, at)) continue
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
