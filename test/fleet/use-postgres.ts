/** Fleets of this test file share a PostgreSQL instead of a Redis. */
process.env['FLEET_STORE'] = 'postgres'
