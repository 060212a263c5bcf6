import type { OpenProgram } from './web-assembly.ts'

/** The name under which the tokenizer's program imports its own JavaScript, which no bundler renames. */
const tokenizerImports = './tiktoken_bg.js'

/** Characters of the ranks of cl100k_base as the package writes them; other encodings have other lengths. */
const ranksCharacters = 1_090_447

/** The package's class, whose methods call the program. */
interface TiktokenClass {
  prototype: Tiktoken
}

interface Tiktoken {
  encode(text: string): Uint32Array
  encode_ordinary(text: string): Uint32Array
  decode(tokens: Uint32Array): Uint8Array
  decode_single_token_bytes(token: number): Uint8Array
}

/**
 * The tokenizer `tiktoken` with the ranks of cl100k_base, as `@bpinternal/thicktoken` bundles it
 * (docs/decisions/0075-count-tokens-in-isolates-with-a-tokenizer-in-javascript.md).
 */
export const openTokenizer: OpenProgram = (_program, imports) => {
  const Tiktoken = imports[tokenizerImports]?.['Tiktoken'] as TiktokenClass | undefined
  return Tiktoken && replaceMethods(Tiktoken)
}

async function replaceMethods(Tiktoken: TiktokenClass): Promise<{ exports: object }> {
  Object.assign(Tiktoken.prototype, await tokenizerMethods())
  return { exports: tokenizerExports() }
}

/**
 * The constructor of the package's class calls it: it copies the ranks and the pattern into memory, which nothing reads
 * here, and creates the tokenizer of them.
 */
function tokenizerExports(): object {
  const own: Record<string, unknown> = {
    memory: { buffer: new ArrayBuffer(8) },
    tiktoken_new(_address: number, characters: number): number {
      if (characters !== ranksCharacters) throw new Error('Of the encodings of tiktoken, only cl100k_base is available')
      return 1
    },
  }
  // Allocations and releases have names that differ from version to version.
  return new Proxy(own, { get: (exports, name: string) => exports[name] ?? (() => 0) })
}

/** The same methods, by a tokenizer in JavaScript. The names of special tokens are text, and no error as in the package. */
async function tokenizerMethods(): Promise<Tiktoken> {
  const [{ encode }, { default: ranks }] = await Promise.all([
    import('gpt-tokenizer/encoding/cl100k_base'),
    import('gpt-tokenizer/bpeRanks/cl100k_base'),
  ])
  const encoder = new TextEncoder()
  const plain = { disallowedSpecial: new Set<string>() }
  const encodeText = (text: string) => Uint32Array.from(encode(text, plain))
  const bytesOf = (token: number): Uint8Array => {
    const known = ranks[token]
    return typeof known === 'string' ? encoder.encode(known) : Uint8Array.from(known ?? [])
  }
  return {
    encode: encodeText,
    encode_ordinary: encodeText,
    decode: (tokens) => (tokens.length === 1 ? bytesOf(tokens[0]!) : join(Array.from(tokens, bytesOf))),
    decode_single_token_bytes: bytesOf,
  }
}

function join(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
