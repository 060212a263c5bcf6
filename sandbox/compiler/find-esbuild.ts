import { createRequire } from 'node:module'

/** Finds esbuild's executable for this machine. @throws Error when it is not installed */
export function findEsbuild(): string {
  const entry = createRequire(import.meta.url).resolve('esbuild')
  return createRequire(entry).resolve(`@esbuild/${process.platform}-${process.arch}/bin/esbuild`)
}
