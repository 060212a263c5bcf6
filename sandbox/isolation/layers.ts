/**
 * What the operating system can put around a sandbox process, in one composition of Linux's own means. Node's permission
 * model, an empty environment and `ulimit` are around every one and are not listed.
 */
export interface Layers {
  /**
   * Network, IPC and process namespaces of its own, made with the privileges of root, or inside a user namespace, which
   * gives an ordinary user those privileges over nothing but the namespace.
   */
  namespaces?: 'direct' | 'user'
  /** A root folder that holds nothing but the program and its libraries. Takes namespaces. */
  chroot: boolean
  /** A user and group that nobody else has. Takes root. */
  ownAccount: boolean
  /** No capabilities, and none to come: neither by setuid programs nor by file capabilities. */
  noPrivileges: boolean
}

export const bareLayers: Layers = { chroot: false, ownAccount: false, noPrivileges: false }

/** The compositions that may work for this user, the strongest first. Which one does is found by trying. */
export function compositionsFor(isRoot: boolean): Layers[] {
  const strong = { ownAccount: isRoot, noPrivileges: true }
  const direct = isRoot ? (['direct', 'user'] as const) : (['user'] as const)
  return [
    ...direct.map((namespaces) => ({ ...strong, namespaces, chroot: true })),
    ...direct.map((namespaces) => ({ ...strong, namespaces, chroot: false })),
    { ...strong, chroot: false },
    // Another user may be unable to read the program, in a checkout below /root for instance.
    ...(isRoot ? [{ ...strong, ownAccount: false, chroot: false }] : []),
    bareLayers,
  ]
}
