import { describe } from 'vitest'
import { sandboxOfFile, testAsInNode, type Case } from './compare.ts'

const sandbox = sandboxOfFile()

const all = (
  expressions: string[],
) => `return [${expressions.map((each) => `() => ${each}`).join(', ')}].map((work) => {
  try { return work() } catch (error) { return [error.name, error.code, error.message] }
})`

const bytes = 'new Uint8Array([97, 98, 99])'

describe('Buffer does what it does in Node', () => {
  testAsInNode(sandbox, [
    [
      'with bytes that are no Buffer',
      all([
        `Buffer.from('abc').equals(${bytes})`,
        `Buffer.from('abd').compare(${bytes})`,
        `Buffer.compare(${bytes}, Buffer.from('ab'))`,
        `Buffer.from('xabcx').compare(${bytes}, 0, 3, 1, 4)`,
        `(() => { const target = new Uint8Array(4); return [Buffer.from('abc').copy(target, 2), target] })()`,
        `(() => { const target = new Float32Array(1); return [Buffer.from([0, 0, 128, 63]).copy(target), target[0]] })()`,
        `String(Buffer.concat([${bytes}, Buffer.from('d')], 5))`,
        `String(Buffer.concat([${bytes}, Buffer.from('d')], 2))`,
        `Buffer.from('xabc').indexOf(${bytes})`,
      ]),
    ],
    [
      'with functions that code calls with new',
      all([
        `String(new Buffer.from('abc'))`,
        `new Buffer.alloc(2)`,
        `new Buffer.allocUnsafe(3).length`,
        `new Buffer.allocUnsafeSlow(3).length`,
        `Buffer.isBuffer(new Buffer.alloc(0))`,
        `'TYPED_ARRAY_SUPPORT' in Buffer`,
      ]),
    ],
    [
      'in searches',
      all([
        `Buffer.from('abc').includes('')`,
        `['', 'a', 'ab', 'c', 'd', 'bc'].map((text) => [Buffer.from('abcab').indexOf(text), Buffer.from('abcab').lastIndexOf(text), Buffer.from('abcab').indexOf(text, -3), Buffer.from('abcab').lastIndexOf(text, -3), Buffer.from('abcab').indexOf(text, 9)])`,
        `Buffer.from('abab', 'utf16le').lastIndexOf('ab', 'utf16le')`,
        `Buffer.from('00610062', 'hex').indexOf('a', 'ucs2')`,
        `Buffer.from('abc').indexOf('6263', 'hex')`,
        `[Buffer.from('abc').indexOf(98), Buffer.from('abc').lastIndexOf(99, -1)]`,
        `Buffer.from('abc').indexOf({})`,
      ]),
    ],
    [
      'that is not as long, and with values that do not fit',
      all([
        `Buffer.alloc(2).readUInt32LE()`,
        `Buffer.alloc(4).readUInt32LE(1)`,
        `Buffer.alloc(4).readInt16BE(0.5)`,
        `Buffer.alloc(4).readInt8('0')`,
        `Buffer.alloc(4).readUIntBE(0, 7)`,
        `Buffer.alloc(4).readIntLE()`,
        `Buffer.alloc(8).readDoubleBE(8)`,
        `Buffer.alloc(8).readBigInt64LE(1)`,
        `Buffer.alloc(4).writeUInt8(256)`,
        `Buffer.alloc(4).writeInt16LE(-32769)`,
        `Buffer.alloc(4).writeUInt32BE(2 ** 32)`,
        `Buffer.alloc(8).writeIntBE(2 ** 47, 0, 6)`,
        `Buffer.alloc(8).writeBigUInt64BE(-1n)`,
        `Buffer.alloc(4).writeFloatLE(1, 1)`,
        `Buffer.alloc(3).swap16()`,
        `Buffer.alloc(3).write('abc', 4)`,
        `Buffer.alloc(3).fill('a', 0, 9)`,
      ]),
    ],
    [
      'with arguments of another type',
      all([
        `Buffer.from(5)`,
        `Buffer.from(null)`,
        `Buffer.from({})`,
        `Buffer.from('a', 'none')`,
        `Buffer.alloc('5')`,
        `(() => { try { Buffer.allocUnsafe(-1) } catch (error) { return [error.name, error.code] } })()`,
        `Buffer.concat('a')`,
        `Buffer.concat(['a'])`,
        `Buffer.byteLength(5)`,
        `Buffer.alloc(1).toString('none')`,
        `Buffer.alloc(1).write(5)`,
        `Buffer.alloc(1).equals('a')`,
        `Buffer.alloc(1).copy([])`,
        `Buffer.compare('a', Buffer.alloc(1))`,
      ]),
    ],
    [
      'in numbers',
      `const seen = []; for (const name of Object.keys(Buffer.prototype)) { const [, kind, size] = /^write((?:Big)?(?:U?[Ii]nt|Float|Double)(\\d*)(?:LE|BE)?)$/.exec(name) ?? []; if (kind === undefined) continue; const buffer = Buffer.alloc(9); const more = /Int(?:LE|BE)$/i.test(kind) ? [3] : []; const value = kind.startsWith('Big') ? 77n : kind.startsWith('U') || kind.startsWith('I') ? 77 : -1.5; seen.push([kind, buffer[name](value, 1, ...more), buffer.toString('hex'), buffer['read' + kind](1, ...more)]) } return seen.toSorted((one, other) => one[0] < other[0] ? -1 : 1)`,
    ],
    [
      'as NaN',
      `const buffer = Buffer.alloc(8); buffer.writeDoubleBE(NaN); return [buffer.toString('hex'), buffer.readDoubleBE()]`,
    ],
    [
      'in methods that drivers of databases use',
      `const buffer = Buffer.alloc(6); return [buffer.utf8Write('aü', 1), buffer.utf8Slice(0, 4), buffer.latin1Slice(1, 3), buffer.hexSlice(), buffer.base64Slice(0, 3), Buffer.prototype.readUint8 === Buffer.prototype.readUInt8]`,
    ],
    [
      'in its inspection',
      `return [Buffer.from('abc'), Buffer.alloc(50), Buffer.alloc(51), Buffer.alloc(60)].map((buffer) => buffer.inspect())`,
    ],
  ] satisfies Case[])
})
