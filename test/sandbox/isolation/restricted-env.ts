import { spawnSync } from 'node:child_process'

/** A place that gives less than this machine. Followed by the command of a program, these words run it there. */
export type RestrictedEnvironment = [string, ...string[]]

/** Where no network and no user namespaces are to be had, nor another account, as in many containers. */
export const withoutNamespaces: RestrictedEnvironment = [
  ...(['unshare', '--user', '--map-root-user', 'sh', '-c'] as const),
  'echo 0 > /proc/sys/user/max_net_namespaces && echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"',
  'sh',
]

/** As an account that is nobody's. Takes root. */
export const asOrdinaryUser: RestrictedEnvironment = [
  ...(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--bounding-set=-all'] as const),
]

/** Whether this machine lets us make such a place, and a further command work in it. */
export function canMake(environment: RestrictedEnvironment, command: string[] = ['true']): boolean {
  const [file, ...args] = environment
  return process.platform === 'linux' && spawnSync(file, [...args, ...command]).status === 0
}
