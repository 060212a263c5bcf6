const host = '(\\*|(\\*\\.)?[a-zA-Z0-9.-]{1,253})'

/** A pattern of hosts that code may reach. */
export const grantedHost = `${host}(:\\d{1,5})?`

const port = '0{0,4}([1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])'

/** A pattern of hosts with ports that code may open connections to. */
export const connectableHost = `${host}:${port}`

/** The same in uploads, where ports that no address has are refused; settings of running installations may have them. */
export const hostWithPort = `${host}(:${port})?`
