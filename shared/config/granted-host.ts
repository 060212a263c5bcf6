/** A pattern of hosts that code may reach. */
export const grantedHost = '(\\*|(\\*\\.)?[a-zA-Z0-9.-]{1,253})(:\\d{1,5})?'
