/** The store of this test file is a PostgreSQL instead of a Redis. */
process.env['FAULTY_STORE'] = 'postgres'
