/** The lifetime of a test message whose expiry does not matter: until the year 2100. */
export const lifetime = { accepted: '2026-01-01T00:00:00.000000', expires_at: Date.UTC(2100, 0, 1) / 1_000 };
