import type { Task } from '../protocol/contract.ts'

/** The function of the bundle that a task calls first, by its name: the kernel does not have to report it as active. */
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
