<?php
// What Composer makes elsewhere: Laravel as Debian packages it, and the application's own classes.
require_once 'Illuminate/autoload.php';
spl_autoload_register(function ($class) {
    $places = ['Illuminate\\Foundation\\' => '/usr/share/php/Illuminate/Foundation/', 'App\\' => __DIR__.'/../app/'];
    foreach ($places as $prefix => $place) {
        $path = $place.str_replace('\\', '/', substr($class, strlen($prefix))).'.php';
        if (str_starts_with($class, $prefix) && is_file($path)) {
            require $path;
        }
    }
});
require_once '/usr/share/php/Illuminate/Foundation/helpers.php';
