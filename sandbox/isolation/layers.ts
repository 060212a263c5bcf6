/**
 * The isolation layers of the operating system, in one composition of Linux's means. Node's permission model, an empty
 * environment and `ulimit` apply to every sandbox process and are not listed.
 */
export interface Layers {
  /**
   * Network, IPC and process namespaces of its own: made with root's privileges, or inside a user namespace, which
   * gives an ordinary user those privileges over the namespace only.
   */
  namespaces?: 'direct' | 'user'
  /** A root folder that contains only the program and its libraries. Requires namespaces. */
  chroot: boolean
  /** A user and group that no other process has. Requires root. */
  ownAccount: boolean
  /** No capabilities, and no way to gain any: neither by setuid programs nor by file capabilities. */
  noPrivileges: boolean
}

export const bareLayers: Layers = { chroot: false, ownAccount: false, noPrivileges: false }

/** The compositions that may work for this user, the strongest first. Trying them finds the one that does. */
export function compositionsFor(isRoot: boolean): Layers[] {
  const strong = { ownAccount: isRoot, noPrivileges: true }
  const direct = isRoot ? (['direct', 'user'] as const) : (['user'] as const)
  return [
    ...direct.map((namespaces) => ({ ...strong, namespaces, chroot: true })),
    ...direct.map((namespaces) => ({ ...strong, namespaces, chroot: false })),
    { ...strong, chroot: false },
    // Another user may be unable to read the program, for instance in a checkout below /root.
    ...(isRoot ? [{ ...strong, ownAccount: false, chroot: false }] : []),
    bareLayers,
  ]
}
