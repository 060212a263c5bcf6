/** The isolation layers of a sandbox process, by the names that `SANDBOX_REQUIRE` takes. */
export const isolationLayers = ['permissions', 'memory', 'network', 'files', 'processes', 'privileges', 'user'] as const

export type IsolationLayer = (typeof isolationLayers)[number]

const namespaceRemedy =
  'run the worker on Linux with util-linux installed, as root with CAP_SYS_ADMIN or where ordinary users may create user ' +
  'namespaces (not in a container with the default seccomp and AppArmor profiles)'

/** The meaning of each layer, and how an operator enables it. */
export const layerDescriptions: Record<IsolationLayer, { meaning: string; remedy: string }> = {
  permissions: {
    meaning: 'Node denies access to files, processes and threads',
    remedy: 'run the worker with Node 24',
  },
  memory: {
    meaning: 'the system kills a process that exceeds its memory limit',
    remedy: 'run the worker on Linux, which enforces the limit',
  },
  network: {
    meaning: 'no connection, no name lookup, no abstract socket',
    remedy: namespaceRemedy,
  },
  files: {
    meaning: 'no file but those of Node itself, hence no socket by its path',
    remedy: `${namespaceRemedy}, and where they may mount file systems in them`,
  },
  processes: {
    meaning: 'no signal to another process; with the layer files, no view of other processes',
    remedy: namespaceRemedy,
  },
  privileges: {
    meaning: 'no capabilities, and no way to gain any',
    remedy: 'run the worker on Linux with util-linux installed (for setpriv)',
  },
  user: {
    meaning: 'a separate user without files',
    remedy: 'run the worker as root on Linux with util-linux installed, from a folder that other users can read',
  },
}
