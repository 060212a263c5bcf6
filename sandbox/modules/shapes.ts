import { modulesOf, type NodeModuleName, type ScriptName } from './table.ts'

/** The names that a module of Node has, and its constants. */
export interface Shape {
  functions: string[]
  values: Record<string, unknown>
}

export type Shapes = Partial<Record<string, Shape>>

const maxEntries = 400

/** Names that are not in the shapes: properties of functions, and internals. */
const skipped = new Set(['length', 'name', 'prototype', 'default', 'arguments', 'caller'])

/** Reads the shapes of a script's modules from this Node. They hold names, numbers and texts, and nothing of this machine. */
export function shapesOf(script: ScriptName): Shapes {
  const names = modulesOf(script).filter((name) => !silent.has(name))
  return Object.fromEntries(names.map((name) => [name, shapeOf(name)]))
}

/** Their use makes Node print a warning, or their values describe this machine. */
const silent: ReadonlySet<NodeModuleName> = new Set(['sys', 'punycode', 'process', 'console'])

/** Node prints a warning when they are read. */
const deprecated = new Set(['fips', 'F_OK', 'R_OK', 'W_OK', 'X_OK'])

function shapeOf(name: NodeModuleName): Shape {
  const module = process.getBuiltinModule(name) as unknown as Record<string, unknown>
  const shape: Shape = { functions: [], values: {} }
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(module))) {
    if (key.startsWith('_') || skipped.has(key)) continue
    // Node defines some classes by getters, for instance `fs.ReadStream`.
    const isGetter = descriptor.get !== undefined
    if (isGetter && deprecated.has(key)) continue
    const value = module[key]
    if (typeof value === 'function') shape.functions.push(key)
    else if (!isGetter && isConstant(value)) shape.values[key] = value
  }
  return shape
}

function isConstant(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'number') return true
  if (typeof value !== 'object' || value === null) return false
  const entries = Object.values(value)
  return entries.length <= maxEntries && entries.every((each) => typeof each === 'string' || typeof each === 'number')
}
