import type { Task } from '../protocol/contract.ts'

/**
 * The name of the bundle's function that a task calls first. The host knows it beforehand, so the kernel does not
 * report it.
 */
export function firstFunction(task: Task): string {
  switch (task.kind) {
    case 'event':
      return task.stages[0] ?? task.finally ?? ''
    case 'action':
      return `actions.${task.name}`
    case 'call':
      return task.path.join('.')
  }
}
