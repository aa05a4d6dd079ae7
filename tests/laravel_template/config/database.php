<?php
return [
    'default' => env('DB_CONNECTION', 'sqlite'),
    'connections' => [
        'sqlite' => ['driver' => 'sqlite', 'database' => env('DB_DATABASE'), 'prefix' => ''],
        'pgsql' => [
            'driver' => 'pgsql', 'host' => '127.0.0.1', 'port' => env('DB_PORT'), 'database' => env('DB_DATABASE'),
            'username' => 'nobody', 'password' => '', 'charset' => 'utf8', 'prefix' => '', 'schema' => 'public',
        ],
    ],
    'migrations' => 'migrations',
    'redis' => [
        'client' => 'phpredis',
        'options' => ['prefix' => Illuminate\Support\Str::slug(env('APP_NAME', 'laravel'), '_').'_database_'],
        'default' => ['host' => '127.0.0.1', 'port' => env('REDIS_PORT'), 'database' => '0'],
        'cache' => ['host' => '127.0.0.1', 'port' => env('REDIS_PORT'), 'database' => '1'],
    ],
];
