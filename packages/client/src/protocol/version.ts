/** The wire version. Additions keep it; a removal raises it. */
export const PROTOCOL_VERSION = 1
