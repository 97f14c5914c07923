/** What a test's message is given whose end does not matter: it was accepted, and does not expire before the year 2100. */
export const lifetime = { accepted: '2026-01-01T00:00:00.000000', expires_at: Date.UTC(2100, 0, 1) / 1_000 };
