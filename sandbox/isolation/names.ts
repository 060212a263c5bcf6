/** The isolation layers of a sandbox process, by the names that `SANDBOX_REQUIRE` takes. */
export const isolationLayers = ['permissions', 'memory', 'network', 'files', 'processes', 'privileges', 'user'] as const

export type IsolationLayer = (typeof isolationLayers)[number]

const namespaceRemedy =
  'run the worker on Linux with util-linux installed, as root with CAP_SYS_ADMIN or where ordinary users may make user ' +
  'namespaces (not in a container with the default seccomp and AppArmor profiles)'

/** The meaning of each layer, and how an operator enables it. */
export const layerDescriptions: Record<IsolationLayer, { meaning: string; remedy: string }> = {
  permissions: {
    meaning: 'Node refuses files, processes and threads',
    remedy: 'run the worker with Node 24',
  },
  memory: {
    meaning: 'a process that takes more memory than its cap is ended',
    remedy: 'run the worker on Linux, where a cap on memory is kept',
  },
  network: {
    meaning: 'no connection, no name lookup, no abstract socket',
    remedy: namespaceRemedy,
  },
  files: {
    meaning: 'nothing of the file system but Node itself, hence no socket by its path',
    remedy: `${namespaceRemedy}, and where mounting is allowed in them`,
  },
  processes: {
    meaning: 'no other process can be signalled, nor seen where its files are its own',
    remedy: namespaceRemedy,
  },
  privileges: {
    meaning: 'no capabilities, and none to come',
    remedy: 'run the worker on Linux with util-linux installed (for setpriv)',
  },
  user: {
    meaning: 'a user of its own, who owns nothing',
    remedy: 'run the worker as root on Linux with util-linux installed, from a folder that other users can read',
  },
}
