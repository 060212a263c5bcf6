/**
 * The program that reads users' uploads and the compiler's output. It receives one task over descriptor 3, until that
 * ends, and replies there. It executes none of the code that it reads.
 */

import { Socket } from 'node:net'
import { indexSourceMap } from '../source-map.ts'
import { joinParts, splitParts } from '../parts.ts'
import { examine, readAsIs } from './examine.ts'

const channel = new Socket({ fd: 3 })
const chunks: Buffer[] = []
channel.on('data', (chunk: Buffer) => chunks.push(chunk))
// An incomplete task is dropped.
channel.once('end', () => channel.end(work(splitParts(Buffer.concat(chunks.splice(0))))))

function work([task, ...parts]: Buffer[]): Buffer {
  const texts = parts.map(String)
  if (String(task) === 'source map') return readMap(texts[0]!)
  if (String(task) === 'bundle') {
    const { scripts = [], ...read } = readAsIs(texts[0]!, texts[1]!) ?? {}
    return joinParts([JSON.stringify(read), ...scripts])
  }
  const [nonce, source, sourceMap, compiled, scanned] = texts as [string, string, string, string, string]
  const { scripts, ...examined } = examine({ nonce, source, sourceMap, compiled, scanned })
  return joinParts([JSON.stringify(examined), ...scripts])
}

function readMap(sourceMap: string): Buffer {
  const index = indexSourceMap(sourceMap)
  if (index === undefined) return joinParts(['null'])
  const { sources, lines, segments } = index
  return joinParts([JSON.stringify(sources), bytesOf(lines), bytesOf(segments)])
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
