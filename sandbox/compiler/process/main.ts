/**
 * The program that reads what users uploaded and what the compiler made of it. It has one task, which comes over
 * descriptor 3 until that ends, and answers there. It runs nothing of what it reads.
 */

import { Socket } from 'node:net'
import { indexSourceMap } from '../source-map.ts'
import { joinParts, splitParts } from '../parts.ts'
import { examine } from './examine.ts'

const channel = new Socket({ fd: 3 })
const chunks: Buffer[] = []
channel.on('data', (chunk: Buffer) => chunks.push(chunk))
// A task that its sender did not send whole is dropped.
channel.once('end', () => channel.end(work(splitParts(Buffer.concat(chunks.splice(0))))))

function work([task, ...parts]: Buffer[]): Buffer {
  const texts = parts.map(String)
  if (String(task) === 'source map') return readMap(texts[0]!)
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
